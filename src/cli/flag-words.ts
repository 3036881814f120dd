import { RegistrarError } from "../base/errors";

/** The flags that set the library's options, the longer names first. */
const FLAGS: readonly (readonly [option: RegExp, flag: string])[] = [
  [/\bcsiAddress(?:es(?:\[\d+\])?)?\b/g, "csi-address"],
  [/\bkubeletRegistrationPaths?(?:\[\d+\])?\b/g, "kubelet-registration-path"],
  [/\bpluginRegistrationPath\b/g, "plugin-registration-path"],
  [/\bdriverTimeoutMs\b/g, "driver-timeout"],
  [/\btimeoutMs\b/g, "timeout"],
  [/\bdriverGoneAfterMs\b/g, "driver-gone-after"],
  [/\bonRegistrationFailure\b/g, "on-registration-failure"],
];

/** The library's error about an option, rewritten to name the flag. Returns any other error unchanged. */
export function inFlags(error: unknown): unknown {
  if (!(error instanceof RegistrarError) || error.code !== "INVALID_OPTION") return error;
  const text = error.message.replace(/^start(?:Node)?Registrar: /, "");
  const inWords = FLAGS.reduce((message, [option, flag]) => message.replace(option, flag), text);
  return new RegistrarError(error.code, inWords, { cause: error.cause });
}
