/** Reads JSON values, a line each, as they come. Throws for a line that is no JSON or longer than `maxBytes`. */
export async function* readJsonLines(
  source: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<unknown, void, undefined> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      pieces.push(chunk.subarray(start, end));
      const line = Buffer.concat(pieces).toString("utf8");
      pieces = [];
      bytes = 0;
      start = end + 1;
      if (line.trim() !== "") yield JSON.parse(line);
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > maxBytes) throw new Error(`a line of the answer has more than ${maxBytes} bytes`);
  }
}
