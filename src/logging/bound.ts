/** Most characters of one value in a log line: peers may say megabytes, and kubelet's longest texts have hundreds. */
export const MAX_VALUE_LENGTH = 4_096;

/** The text as it goes into a log line: its beginning, and how long it was, where it is too long. */
export function boundText(text: string): string {
  if (text.length <= MAX_VALUE_LENGTH) return text;
  return `${text.slice(0, MAX_VALUE_LENGTH)} [cut, ${text.length} characters in all]`;
}
