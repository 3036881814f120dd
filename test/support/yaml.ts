import { load, loadAll } from "js-yaml";

type Json = ReturnType<typeof JSON.parse>;

/** The values of JSON in one document, whatever they are. */
export const parse = (text: string): Json => JSON.parse(JSON.stringify(load(text)));

/** Those of each document that is not empty. */
export const parseAll = (text: string): Json[] =>
  JSON.parse(JSON.stringify(loadAll(text).filter((one) => one ?? false)));
