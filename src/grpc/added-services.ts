import { types } from "node:util";
import type { Server, ServiceDefinition } from "@grpc/grpc-js";
import { invalidOption } from "../base/errors";
import { isPromise } from "../base/guarded-call";
import { nearWord } from "../base/near-word";
import { propertyNames } from "../base/property-names";
import { show } from "../options/option-kinds";
import { createAnswerTypes } from "./descriptors";

/**
 * Makes `addService` throw INVALID_OPTION for handlers that grpc-js would ignore, or call too late to refuse them. Returns the
 * handlers, and what the methods answer.
 */
export function checkServices(server: Server) {
  const answerTypes = createAnswerTypes();
  const handlersByPath = new Map<string, unknown>();
  const addService = server.addService.bind(server);
  server.addService = (service, given) => {
    // grpc-js takes no function: an object that inherits the static methods of a class.
    const handlers = isClassWith(service, given) ? Object.create(given) : given;
    refuseUnusable(service, handlers);
    // The names that a proxy has are its own affair.
    if (!types.isProxy(handlers)) refuseMistyped(service, handlers);
    answerTypes.add(service);
    for (const [name, { path, originalName = name }] of Object.entries(service))
      handlersByPath.set(path, handlers[name] ?? handlers[originalName]);
    addService(service, handlers);
  };
  return {
    answerTypeOf: answerTypes.of,
    /** A method's handler as it was added: grpc-js binds it, which hides its source. */
    handlerOf: (path: string) => handlersByPath.get(path),
    /** The services that were added without any handler, by name. */
    unhandled: (): readonly string[] => {
      const paths = [...handlersByPath.keys()];
      const handled = servicesIn(paths.filter((path) => handlersByPath.get(path) !== undefined));
      return [...servicesIn(paths)].filter((name) => !handled.has(name));
    },
  };
}

/** Their services: a method's path is `/SERVICE/METHOD`. */
const servicesIn = (paths: readonly string[]) => new Set(paths.map((path) => path.split("/")[1] ?? ""));

/** Of each method, its name in the contract and the one in camel case. */
const methodNames = (service: ServiceDefinition) =>
  Object.entries(service).map(([name, { originalName = name }]) => [name, originalName] as const);

const isClassWith = (service: unknown, given: unknown): boolean =>
  typeof given === "function" &&
  methodNames(Object(service))
    .flat()
    .some((name) => typeof Object(given)[name] === "function");

/** Refuses what grpc-js would call in vain, or of which it would ignore a part. */
function refuseUnusable(service: unknown, handlers: unknown): void {
  if (typeof service !== "object" || service === null)
    throw invalidOption(
      `addService: the service is ${show(service)}; it takes a service definition, such as csi.v1.Node.service`,
    );
  const isObject = typeof handlers === "object" && handlers !== null;
  const isProxy = types.isProxy(handlers);
  if (!isObject || (!isProxy && (isPromise(handlers) || Symbol.iterator in handlers)))
    throw invalidOption(
      `addService: the handlers are ${show(handlers)}; it takes an object with a function for each method`,
    );
  for (const names of methodNames(service as ServiceDefinition)) {
    const given = [...new Set(names)].filter((name) => Object(handlers)[name] !== undefined);
    for (const name of given) {
      const handler: unknown = Object(handlers)[name];
      if (typeof handler !== "function")
        throw invalidOption(`addService: the handler of ${name} is ${show(handler)}; it takes a function`);
    }
    if (!isProxy && new Set(given.map((name) => Object(handlers)[name])).size > 1)
      throw invalidOption(`addService: there are two handlers of one method, ${given.join(" and ")}`);
  }
}

/**
 * grpc-js ignores a function of no method, such as a helper, and answers the method that was meant, by another case, snake
 * case or one letter, with UNIMPLEMENTED.
 */
function refuseMistyped(service: ServiceDefinition, handlers: object): void {
  const names = methodNames(service);
  const without = names.filter((both) => !both.some((name) => name in handlers)).flat();
  for (const name of propertyNames(handlers, ({ value }) => typeof value === "function")) {
    if (names.some((both) => both.includes(name))) continue;
    const lower = name.replaceAll("_", "").toLowerCase();
    const isNear = (method: string) => nearWord(lower, [method.toLowerCase()], 1) !== undefined;
    const meant = without.find(isNear);
    if (meant !== undefined)
      throw invalidOption(`addService: there is no method ${name}; did you mean ${meant}?`);
  }
}
