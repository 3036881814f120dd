/** One command of a line of shell: its words, without quotes, redirections and assignments in front. */
export type Words = readonly string[];

/** A comment, what ends a command, a redirection, or a word. */
const TOKEN = /#.*|[|&;]+|[<>]+\s*[^\s|&;<>]*|(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\|&;<>])+/g;

/** The commands of a `sh` fence: lines joined at `\`, cut at `&&`, `|` and `;`, comments left out. */
export function commandsIn(fence: string): readonly Words[] {
  const lines = fence.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => splitCommands(line)).filter((words) => words.length > 0);
}

function splitCommands(line: string): readonly Words[] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(TOKEN)) {
    if (token.startsWith("#")) break;
    if (/^[|&;]/.test(token)) commands.push([]);
    else if (!/^[<>]/.test(token))
      commands.at(-1)?.push(token.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, "$1$2$3"));
  }
  const isAssignment = (word: string) => /^[A-Z_]+=/.test(word);
  return commands.map((words) =>
    words.every(isAssignment) ? [] : words.slice(words.findIndex((word) => !isAssignment(word))),
  );
}
