import type { z } from 'zod';
import type { Bus } from '../core/bus.ts';
import { cleanLine, fenceData, fenceNote, holdsMessage } from '../core/envelope.ts';
import { BusError, errorShape } from '../core/errors.ts';
import type { Caller } from '../core/model.ts';
import { takeNews, type NewsBudget } from '../core/news.ts';
import type { CallOptions, ModelAnswer, ProgramAnswer } from './answer.ts';
import type { Reader, Tool, ToolContext } from './defineTool.ts';
import { isToolName, tools, type ToolName } from './table.ts';

/** How much of what has newly arrived rides along on another answer. */
const newsBudget: NewsBudget = { messages: 3, length: 600 };

export interface ToolHost {
  bus: Bus;
  onInternalError: (tool: string, error: unknown) => void;
}

/** For programs: data as it is; errors are thrown. */
export async function callForProgram(
  host: ToolHost,
  caller: Caller,
  name: string,
  args: unknown,
  options: CallOptions,
): Promise<ProgramAnswer> {
  const { tool, output } = await run(host, caller, name, args, options, 'program');
  return { data: output as Record<string, unknown>, shown: tool.shown?.(output) ?? [] };
}

/** For models: never throws; what other agents wrote has gone through the envelope; news ride along, once. */
export async function callForModel(
  host: ToolHost,
  caller: Caller,
  name: string,
  args: unknown,
  options: CallOptions,
): Promise<ModelAnswer> {
  try {
    const { tool, output, context } = await run(host, caller, name, args, options, 'model');
    const structured = withNote(output, fenceData(output) as Record<string, unknown>);
    const shown = tool.shown?.(output) ?? [];
    const text = tool.render(output, context);
    const isError = tool.failed?.(output) ?? false;
    const route = tool.name === 'inbox' ? 'inbox' : shown.length > 0 ? 'answer' : 'tool-result';
    const news = tool.name === 'inbox' ? undefined : takeNews(host.bus, caller, shown, newsBudget, 'tool-result');
    if (!news) return { text, structured, isError, shown, route };
    return {
      text: `${text}\n\n${news.text}`,
      structured: { ...structured, news: { note: fenceNote, messages: news.lines } },
      isError,
      shown: [...shown, ...news.shown],
      route,
    };
  } catch (error) {
    if (!(error instanceof BusError)) host.onInternalError(name, error);
    const shape = errorShape(error);
    return {
      text: `${shape.code}: ${cleanLine(shape.message, 400)} ${cleanLine(shape.next, 400)}`,
      structured: { error: fenceData(shape) },
      isError: true,
      shown: [],
      route: 'tool-result',
    };
  }
}

/** Some clients give their model this part only, so what is said about fenced messages has to be in it, too. */
function withNote(output: object, structured: Record<string, unknown>): Record<string, unknown> {
  if (!holdsMessage(output)) return structured;
  return 'note' in structured ? { messages_note: fenceNote, ...structured } : { note: fenceNote, ...structured };
}

async function run(
  host: ToolHost,
  caller: Caller,
  name: string,
  args: unknown,
  options: CallOptions,
  reader: Reader,
): Promise<{ tool: Tool; output: object; context: ToolContext }> {
  if (!isToolName(name)) {
    throw new BusError('unknown-tool', `There is no tool "${name.slice(0, 60)}".`, {
      next: `The tools are: ${Object.keys(tools).join(', ')}.`,
    });
  }
  const tool = tools[name] as unknown as Tool;
  const input = tool.input.safeParse(args ?? {});
  if (!input.success) throw invalidInput(name, input.error);
  host.bus.touch(caller.agent);
  const context: ToolContext = {
    bus: host.bus,
    caller,
    reader,
    ...(options.progress && { progress: options.progress }),
    get signal() {
      return options.signal;
    },
  };
  return { tool, output: await tool.run(input.data, context), context };
}

function invalidInput(name: ToolName, error: z.ZodError): BusError {
  const issues = error.issues.slice(0, 3).map((issue) => {
    const where = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
    return where + issue.message;
  });
  const tooLarge = error.issues.some((issue) => issue.code === 'too_big' && issue.path[0] === 'text');
  return new BusError(
    tooLarge ? 'too-large' : 'invalid-input',
    `${name} was called with arguments that do not fit. ${issues.join('; ')}.`,
    {
      next: tooLarge
        ? 'Send at most 1 MiB of text; put more into a file and send its path.'
        : `Nothing was done. Call again with what ${name} takes: ${Object.keys(tools[name].input.shape).join(', ')}.`,
    },
  );
}
