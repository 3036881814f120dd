declare const REGISTRAR_VERSION: string | undefined;

/** This program's version with a leading `v`; `unknown`, as in the official registrar, if the build gave none. */
export const version: string = typeof REGISTRAR_VERSION === "string" ? REGISTRAR_VERSION : "unknown";
