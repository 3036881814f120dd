/**
 * Calls a function of the caller's, which must not end what calls it: what it throws, and what a promise that it returns
 * rejects with, goes to `onError`. Answers what it returned, undefined where it threw.
 */
export function guardedCall<Value>(
  callback: () => Value,
  onError: (error: unknown) => void,
): Value | undefined {
  try {
    const returned = callback();
    if (isPromise(returned)) Promise.resolve(returned).catch(onError);
    return returned;
  } catch (error) {
    onError(error);
    return undefined;
  }
}

/** Whether the value is a promise. */
export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (Object(value) as Partial<Promise<unknown>>).then === "function";
