import { setTimeout as delay } from "node:timers/promises";
import { printError } from "../../../../runtime/print";

/** How long kubectl and the API server may be silent. */
export interface Patience {
  /** After it, stderr names what doctor waits for. */
  readonly noticeMs: number;
  readonly silentMs: number;
  /** In place of `silentMs` where the answer has begun, or kubectl has spoken to its user, who may have to log in. */
  readonly longestMs: number;
}

const SILENT_KUBECTL_MS = 30_000;
const LOGIN_MS = 120_000;
export const PATIENCE: Patience = { noticeMs: 5_000, silentMs: SILENT_KUBECTL_MS, longestMs: LOGIN_MS };

type Waited<Value> = { readonly value: Value } | { readonly silence: string };

/** Waits no longer than the patience has, then ends `act` and says what gave no answer. */
export async function waitFor<Value>(
  what: string,
  act: (signal: AbortSignal) => Promise<Value>,
  isPatient: () => boolean,
  { noticeMs, silentMs, longestMs }: Patience = PATIENCE,
): Promise<Waited<Value>> {
  const [acting, waiting] = [new AbortController(), new AbortController()];
  const wait = (ms: number) => delay(ms, undefined, { signal: waiting.signal });
  const giveUp = async () => {
    await wait(noticeMs);
    printError(`registrar doctor: waiting for ${what}`);
    await wait(silentMs - noticeMs);
    const isLong = isPatient();
    if (isLong) await wait(longestMs - silentMs);
    return { silence: `no answer within ${(isLong ? longestMs : silentMs) / 1000} s: ${what}` };
  };
  try {
    return await Promise.race([act(acting.signal).then((value) => ({ value })), giveUp()]);
  } finally {
    acting.abort();
    waiting.abort();
  }
}
