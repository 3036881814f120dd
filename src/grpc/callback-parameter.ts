/** Whether a handler takes a callback; `unknown` if its length does not say, such as of `(...all) => {}` or a mock. */
export type TakesCallback = "yes" | "no" | "unknown";

const NOT_CODE = /\/\*[\s\S]*?\*\/|\/\/.*|(["'`])(?:\\[\s\S]|(?!\1)[^\\])*\1/g;
/** A use of `arguments`, not a property of that name. */
const ARGUMENTS = /(?<![\w$)\]?]\.)\barguments\b/;

/** `length` counts no parameter from the first default or rest on. A bound function and a proxy hide their source. */
export function takesCallback(handle: (...given: never[]) => unknown): TakesCallback {
  if (handle.length > 1) return "yes";
  const source = Function.prototype.toString.call(handle);
  const mayTake =
    /\{\s*\[native code\]\s*\}$/.test(source) || ARGUMENTS.test(source) || hasMoreParameters(source);
  return mayTake ? "unknown" : "no";
}

/** Whether a function's parameters are more than one, or a rest parameter. */
function hasMoreParameters(source: string): boolean {
  const code = source.replace(NOT_CODE, '""');
  if (/^(?:async\s+)?[\p{ID_Continue}$]+\s*=>/u.test(code)) return false;
  const list = code.slice(code.indexOf("(") + 1);
  if (/^\s*\.\.\./.test(list)) return true;
  let depth = 0;
  for (let at = 0; at < list.length; at++) {
    const sign = list.charAt(at);
    if ("([{".includes(sign)) depth += 1;
    else if (depth === 0 && sign === ")") return false;
    else if (")]}".includes(sign)) depth -= 1;
    // Not the comma behind the last one.
    else if (depth === 0 && sign === ",") return !/^\s*\)/.test(list.slice(at + 1));
  }
  return false;
}
