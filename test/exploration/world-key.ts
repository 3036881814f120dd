import type { RegistrationState } from "../../src/registrar/model/state";
import {
  inOrder,
  isSameInode,
  type Official,
  type Ours,
  renaming,
  socketsIn,
  sortedKeys,
  type World,
} from "./world";

/** States of registrations by their text without an alias, and what was looked up before. */
const stateNumbers = new Map<string, number>();
const knownStates = new WeakMap<object, number>();
function numberOf(state: RegistrationState): number {
  let number = knownStates.get(state);
  if (number === undefined) {
    const text = JSON.stringify(state, (key, value: unknown) => (key === "alias" ? undefined : value));
    number = stateNumbers.get(text) ?? stateNumbers.size;
    stateNumbers.set(text, number);
    knownStates.set(state, number);
  }
  return number;
}

const aliasIn = (state: RegistrationState) => state.facts?.alias ?? "";

/** Which of two equal processes is the first one, as far as that can be seen without names and sockets. */
const rankOf = (one: Ours | Official): string =>
  one.kind === "official"
    ? `${one.up}${one.step}`
    : `${one.up}${one.frozen}${numberOf(one.state)},${one.published === undefined}`;

/** A text that is equal for worlds that are equal in one of these orders of their processes. */
export function keyOf(world: World, orders: readonly (readonly number[])[] = [inOrder(world)]): string {
  const [only] = orders;
  if (only && orders.length === 1) return keyInOrder(world, only);
  const ranks = world.registrars.map(rankOf);
  const ranked = orders.map((order) => order.map((id) => ranks[id]).join());
  const least = ranked.reduce((one, other) => (other < one ? other : one));
  const keys = orders.filter((_order, at) => ranked[at] === least).map((order) => keyInOrder(world, order));
  return keys.reduce((one, other) => (other < one ? other : one));
}

/** Sockets get numbers by where they are first found. */
function keyInOrder(world: World, order: readonly number[]): string {
  const { files, registrars, driver, kubelet } = world;
  const rename = renaming(order);
  const sockets = socketsIn(world, order, rename);
  const number = (socket: number | undefined) => (socket === undefined ? "" : sockets.indexOf(socket));
  const sorted = <Value>(record: Record<string, Value>, textOf: (value: Value) => unknown) => {
    let text = "";
    for (const key of sortedKeys(record, rename)) text += `${rename(key)}=${textOf(record[key] as Value)},`;
    return text;
  };
  const bit = (is: boolean | undefined) => (is ? 1 : 0);
  const processes = order.map((id) => {
    const one = registrars[id] as Ours | Official;
    const up = `${bit(one.up)}${bit(one.frozen)}`;
    if (one.kind === "official") return `${up}${one.step}${one.name},${number(one.socket)}`;
    const { state, published, publication, knowsKubelet, hasStranger, missed, hasGuessed } = one;
    const bound = publication && [
      number(publication.bound),
      number(publication.judged),
      bit(publication.isEager),
    ];
    const socket = published && `${rename(published.path)}=${number(published.socket)}`;
    const alias = rename(`${aliasIn(state)},${state.facts?.movedFrom?.alias},${publication?.alias}`);
    const known = `${bit(knowsKubelet)}${bit(hasStranger)}${bit(hasGuessed)}${rename(missed ?? "")}`;
    return `${up}${numberOf(state)},${alias},${socket},${one.withdrawn},${bound},${publication?.answers},${known}`;
  });
  return [
    sorted(files, number),
    ...processes,
    rename(kubelet.queue.join()),
    sorted(kubelet.desired, bit),
    sorted(kubelet.backoff, bit),
    sorted(kubelet.actual, ({ name, stale }) => name + bit(stale)),
    sorted(kubelet.drivers, (step) => step[0]),
    sorted(
      kubelet.operations,
      ({ kind, step, stale, socket, name, ok }) =>
        `${kind[0]}${step}${bit(stale)}${number(socket)}${name}${bit(ok)}`,
    ),
    driver.name + bit(driver.up) + world.faults,
    sockets.map((socket) => {
      const { owner = -1, live = false, isEager } = world.sockets[socket] ?? {};
      const inode = sockets.findIndex((other) => isSameInode(world, other, socket));
      return `${order.indexOf(owner)}${bit(live)}${bit(isEager)}${inode}`;
    }),
  ].join("|");
}
