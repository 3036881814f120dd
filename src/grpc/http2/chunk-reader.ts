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

  /** Keeps nothing of a chunk that has been read: it may be the last for long. */
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
    for (let filled = 0; ; ) {
      filled += take(count - filled).copy(whole, filled);
      if (filled === count) return whole;
      while (unread.length === 0) yield;
    }
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
