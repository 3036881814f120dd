import { type PatternPair, pairPatterns } from "../../host-path/path-pattern";
import { callbackOf, flag, listOf, milliseconds, textKind } from "../../options/option-kinds";
import { checkFor, optional, optionsOf, readOptions, required } from "../../options/read-options";
import type { Resolved, ResolvedStartOptions } from "../../options/start-options";
import { COMMON_OPTIONS } from "../model/library-options";
import type { RegistrarOptions } from "../model/options";
import type { NodeRegistrarEvent } from "../registration/registrations";
import { type NameLists, type ParsedNames, parseNameLists } from "./name-lists";

/** The options of a node-wide registrar. Times are milliseconds, 24 days at most. */
export interface NodeRegistrarOptions
  extends Omit<
    RegistrarOptions,
    "csiAddress" | "endpoint" | "onRegistrationFailure" | "driverTimeoutMs" | "onEvent"
  > {
  /** Patterns of driver sockets as this process sees them; `*` stands for one or more characters of one path segment. */
  readonly csiAddresses: readonly string[];
  /** The same as kubelet sees them, first with first; each `*` stands for the same as its counterpart. */
  readonly endpoints: readonly string[];
  /** A driver whose socket is away or refuses for this long has gone. @default 30000 */
  readonly driverGoneAfterMs?: number | undefined;
  /** Which driver names are wanted. @default all */
  readonly names?: NameLists | undefined;
  /** Called with each event of each registration from the first one on. @default nothing */
  readonly onEvent?: ((event: NodeRegistrarEvent) => unknown) | undefined;
}

export interface ResolvedNodeOptions
  extends Omit<Resolved<NodeRegistrarOptions>, "csiAddresses" | "endpoints" | "names"> {
  readonly names: ParsedNames;
  readonly pairs: readonly PatternPair[];
}

const texts = optional(listOf(textKind));

/** Fills defaults and checks; no other place knows either. Throws INVALID_OPTION. */
export function resolveNodeOptions(
  options: NodeRegistrarOptions,
): ResolvedNodeOptions & ResolvedStartOptions {
  const { onRegistrationFailure: _, ...common } = COMMON_OPTIONS;
  const whose = "startNodeRegistrar";
  const { csiAddresses, endpoints, ...read } = readOptions<
    Resolved<NodeRegistrarOptions> & ResolvedStartOptions
  >(whose, options, {
    csiAddresses: required(listOf(textKind)),
    endpoints: required(listOf(textKind)),
    reregisterOnDriverRestart: optional(flag, false),
    driverGoneAfterMs: optional(milliseconds({ orZero: true }), 30_000),
    names: optional(optionsOf<NameLists>({ allow: texts, deny: texts }), {}),
    ...common,
    onEvent: optional(callbackOf<(event: NodeRegistrarEvent) => unknown>(), () => {}),
  });
  return checkFor(whose, () => {
    const names = parseNameLists(read.names);
    return { ...read, names, pairs: pairPatterns(csiAddresses, endpoints) };
  });
}
