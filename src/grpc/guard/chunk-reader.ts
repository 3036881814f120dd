const NOTHING: Buffer = Buffer.alloc(0);

/** What a protocol reads its bytes with. */
export interface ChunkReader {
  /** The next bytes, 1 to `most`, as soon as one has arrived: a slice of its chunk. */
  some(most: number): Generator<void, Buffer, void>;
  /** The next `count` bytes when all have arrived: a slice if they are in one chunk, else a copy. */
  exactly(count: number): Generator<void, Buffer, void>;
  /** Hands on the next `count` bytes as they arrive, in slices. */
  passOn(count: number, take: (piece: Buffer) => void): Generator<void, void, void>;
}

/**
 * Turns a protocol that is written as if all its bytes were there into a function that takes their chunks. That function
 * throws what the protocol throws, and ignores later chunks.
 */
export function createChunkConsumer(
  protocol: (bytes: ChunkReader) => Generator<void, void, void>,
): (chunk: Buffer) => void {
  let unread = NOTHING;

  /** Keeps nothing of a chunk that has been read: the next may come late. */
  const take = (most: number): Buffer => {
    const piece = unread.subarray(0, most);
    unread = piece.length === unread.length ? NOTHING : unread.subarray(piece.length);
    return piece;
  };

  function* some(most: number): Generator<void, Buffer, void> {
    while (unread.length === 0) yield;
    return take(most);
  }

  function* exactly(count: number): Generator<void, Buffer, void> {
    if (count === 0) return NOTHING;
    while (unread.length === 0) yield;
    if (unread.length >= count) return take(count);
    const whole = Buffer.allocUnsafe(count);
    for (let filled = 0; filled < count; ) filled += (yield* some(count - filled)).copy(whole, filled);
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
