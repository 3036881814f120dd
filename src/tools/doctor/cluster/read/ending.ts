import { beyond, type Gap, looked, type Seen, type Truth, truth, type Unread } from "../../findings/seen";

interface Ending {
  readonly exitCode: number | undefined;
  readonly endReason: string;
  readonly message: string;
}
/** One that ends again and again. */
export interface Container {
  readonly name: string;
  readonly who: string;
  readonly restarts: number;
  /** Unknown where a pod of an older template may have its registrar under another name. */
  readonly isRegistrar: Truth;
  /** How it ended the last time, and its termination message: kubelet may have removed that container. */
  readonly end: Seen<Ending>;
}
export function endingContainer(
  { exitCode, endReason, message, name, who, restarts }: Omit<Container, "isRegistrar" | "end"> & Ending,
  { names, other }: Registrars,
): Container {
  const isRegistrar = truth(names.includes(name) || (other ?? false));
  const end = exitCode === undefined ? unreadBy(beyond("pods", name)) : { exitCode, endReason, message };
  return { ...{ name, who, restarts, isRegistrar }, end: looked(end) };
}
/** The names of those that are known; and what may be another one. */
export type Registrars = Readonly<{ names: readonly string[]; other: Gap | undefined }>;

const unreadBy = (gap: Gap): Unread => ({ kind: "unread", gap });
