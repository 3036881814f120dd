/**
 * Throws with how to write it if a flag's value looks like a flag and is a word of its own, `--arg --v=2`: that would be two
 * flags. One of the command's own flags behind it means that the value is missing.
 */
export function refuseSplitArgument(
  argv: readonly string[],
  flag: string,
  own: Readonly<Record<string, unknown>>,
): readonly string[] {
  const at = argv.findIndex((word) => word === `--${flag}` || word === `-${flag}`) + 1;
  const [word = "", value = "-"] = at === 0 ? [] : argv.slice(at);
  const [, name] = /^--?([^-=][^=]*)/.exec(word) ?? [];
  if (name === undefined || Object.hasOwn(own, name)) return argv;
  const argument = word.includes("=") || value.startsWith("-") ? word : `${word}=${value}`;
  throw new Error(`write --${flag}=${argument}`);
}
