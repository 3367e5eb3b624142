/** The types of the tool table, for typed calls; nothing of the table itself ends up in the client. */
export type { ToolInput, ToolName, ToolOutput } from '../tools/table.ts';
export type { MessageStatus } from '../core/progress.ts';
export type { ModelAnswer } from '../tools/answer.ts';
