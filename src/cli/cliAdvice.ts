/** The hub gives advice in terms of its tools; in a terminal the same things have other names. */
const translations: readonly [RegExp, string][] = [
  [/Call agents\b/g, 'Run `agent-bus agents`'],
  [
    /Call channel with action "list" to see them, or with action "create" to make it/g,
    'Run `agent-bus channel list` to see them, or `agent-bus channel create NAME` to make it',
  ],
  [/(?:Call )?channel with action "(\w+)" and name "([a-z0-9-]+)"/g, '`agent-bus channel $1 $2`'],
  [/Call conversations\b/g, 'Run `agent-bus conversations`'],
  [/Call status to see its result/g, 'Run `agent-bus show` with its id to see its result'],
  [/Use send to begin/g, 'Begin one with `agent-bus send`'],
  [/Correct them by the schema of the tool and call again/g, 'Correct them and try again'],
  [
    /"#channel" in `to`, or the message you answer in `reply_to`/g,
    "'#channel', or the message you answer in --reply-to",
  ],
  [
    /Use an id from inbox, conversation or send, such as/g,
    'Use an id that inbox, conversation or send has shown, such as',
  ],
  [/or call without wait_seconds/g, 'or call without --wait'],
  [/`wait_seconds`/g, '--wait'],
];

export function cliAdvice(next: string): string {
  return translations.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), next);
}
