declare const OF: unique symbol;

/** A path as doctor sees it. In a container the same words name another file than on the host: TypeScript refuses to compare the two. */
export type PathHere = string & { readonly [OF]: "here" };
/** A path as the host has it, which kubelet gets. */
export type PathOnHost = string & { readonly [OF]: "host" };
/** A path as a process has it, perhaps in a container of its own. */
export type PathOfProcess = string & { readonly [OF]: "process" };

/** Whether both are in the same words: they may be two files all the same. */
export const isWrittenAlike = (here: PathHere | undefined, host: PathOnHost): boolean =>
  here !== undefined && `${here}` === `${host}`;

/** Only readers know whose a path is: no judge makes one of these. */
export const pathHere = (path: string) => path as PathHere;
export const hostsPath = (path: string) => path as PathOnHost;
export const pathOfProcess = (path: string) => path as PathOfProcess;
