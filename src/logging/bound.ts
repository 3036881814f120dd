/** The most characters of one value in a log line: peers may send megabytes, and kubelet's longest texts have hundreds. */
export const MAX_VALUE_LENGTH = 4_096;

/** The text for a log line: if it is too long, only its beginning, and its length. */
export function boundText(text: string): string {
  if (text.length <= MAX_VALUE_LENGTH) return text;
  return `${text.slice(0, MAX_VALUE_LENGTH)} [cut, ${text.length} characters in all]`;
}
