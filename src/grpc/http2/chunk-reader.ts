const NOTHING: Buffer = Buffer.alloc(0);

/** What a protocol asks of the bytes it reads. */
export interface ChunkReader {
  /** The next bytes, 1 to `most` of them, as soon as any are there: a slice of what came, never a copy. */
  some(most: number): Generator<void, Buffer, void>;
  /** The next `count` bytes, when all of them are there: a slice where one chunk holds them, else a copy. */
  exactly(count: number): Generator<void, Buffer, void>;
  /** Hands on the next `count` bytes as they come, in slices. */
  passOn(count: number, take: (piece: Buffer) => void): Generator<void, void, void>;
}

/**
 * Turns a protocol that is written from top to bottom, as if its bytes were all there, into a function that takes the
 * chunks in which they really come. That function throws what the protocol throws, and ignores chunks after it.
 */
export function createChunkConsumer(
  protocol: (bytes: ChunkReader) => Generator<void, void, void>,
): (chunk: Buffer) => void {
  let unread = NOTHING;

  function* some(most: number): Generator<void, Buffer, void> {
    while (unread.length === 0) yield;
    const piece = unread.subarray(0, most);
    unread = unread.subarray(piece.length);
    return piece;
  }

  function* exactly(count: number): Generator<void, Buffer, void> {
    if (count === 0) return NOTHING;
    const first = yield* some(count);
    if (first.length === count) return first;
    const whole = Buffer.allocUnsafe(count);
    let filled = first.copy(whole);
    while (filled < count) filled += (yield* some(count - filled)).copy(whole, filled);
    return whole;
  }

  function* passOn(count: number, take: (piece: Buffer) => void): Generator<void, void, void> {
    for (let left = count; left > 0; ) {
      const piece = yield* some(left);
      left -= piece.length;
      take(piece);
    }
  }

  const running = protocol({ some, exactly, passOn });
  return (chunk) => {
    unread = chunk;
    running.next();
  };
}
