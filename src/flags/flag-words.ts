import { RegistrarError } from "../base/errors";

/** The library's options that flags set, in the singular, as an item of a list, and in milliseconds. */
const OPTIONS =
  /\b(csiAddress|kubeletRegistrationPath|pluginRegistrationPath|driverTimeout|timeout(?=Ms)|driverGoneAfter|onRegistrationFailure)(?:e?s)?(?:\[\d+\])?(?:Ms)?\b/g;

/** The library's error about an option, rewritten to name the flag. Returns any other error unchanged. */
export function inFlags(error: unknown): unknown {
  if (!(error instanceof RegistrarError) || error.code !== "INVALID_OPTION") return error;
  const text = error.message
    .replace(/^start(?:Node)?Registrar: /, "")
    .replace(OPTIONS, (_, option: string) =>
      option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    );
  return new RegistrarError(error.code, text, { cause: error.cause });
}
