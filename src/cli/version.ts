/** Put in by the build. */
declare const REGISTRAR_VERSION: string | undefined;

/** This program's version with a leading `v`; `unknown`, as the official's, where no build put it in. */
export const version: string = typeof REGISTRAR_VERSION === "string" ? REGISTRAR_VERSION : "unknown";
