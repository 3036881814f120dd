import { EventEmitter } from "node:events";

/** The process of Node's own modules: jest gives tests a copy of it, on which Node emits nothing. */
export const realProcess: NodeJS.Process = (EventEmitter.constructor as FunctionConstructor)(
  "return process",
)();
