/** Calls a function: what it throws, or its promise rejects with, goes to `onError`. Undefined if it threw. */
export function guardedCall<Value>(
  callback: () => Value,
  onError: (error: unknown) => void,
): Value | undefined {
  try {
    const returned = callback();
    // No promise is made for each line of the log and each event.
    if (isPromise(returned)) Promise.resolve(returned).catch(onError);
    return returned;
  } catch (error) {
    onError(error);
    return undefined;
  }
}

export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (Object(value) as Partial<Promise<unknown>>).then === "function";
