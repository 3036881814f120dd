const NOBODY = 65_534;

/** Runs `act` without root's right to write everywhere, in tests that run as root as in those that do not. */
export async function asOrdinaryUser<Value>(act: () => Promise<Value>): Promise<Value> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
