// What judges get without a question: in the types of their facts, each field, list and result that is a plain value.

/** Closed: nothing in them can be compared, counted or found missing. */
const CLOSED = [
  "Truth",
  "KnownTruth",
  "Told",
  "Key",
  "Name",
  "Words",
  "Lacking",
  "Phrase",
  "Withheld",
  "Closed",
  "Unread",
  "Gap",
  "NodeGap",
];
/** What is in one is there only behind a question: no value of it is a plain one, but each field of an object in it is. */
const ASKED = {
  Seen: "()",
  KnownSeen: "()",
  SeenList: "[]",
  KnownList: "[]",
  Mixed: "[]",
  Group: "[]",
  Ordered: "[]",
};
const LISTS = ["Set", "ReadonlySet", "Map", "ReadonlyMap"];

/** `PATH: TYPES`: by the first way that leads to it, or from the name of its type. */
export function plainIn(checker, root) {
  const nameOf = (type) => (type.getAliasSymbol() ?? type.getSymbol())?.name ?? "";
  const argumentsOf = (type) => {
    const own = type.getAliasSymbol() ? type.getAliasTypeArguments() : [];
    return own.length > 0 || !type.isTypeReference?.() ? own : checker.getTypeArguments(type);
  };
  const partsOf = (type) => {
    try {
      return type.isUnionType() ? type.getTypes() : [type];
    } catch {
      return [type];
    }
  };
  const isAbsent = (type) => type.isIntrinsicType() && /^(?:undefined|null|void)$/.test(type.intrinsicName);
  /** Only its own file knows a property whose name is a symbol. */
  const isNamed = ({ escapedName }) => !escapedName.startsWith("__@");
  const found = new Map();
  const seen = new Set();
  const open = [{ type: root, path: "" }];
  /** `isAsked`: the value itself is behind a question. */
  const visit = ({ type, path, isAsked }) => {
    const plain = [];
    for (const part of partsOf(type)) {
      const name = nameOf(part);
      if (CLOSED.includes(name)) continue;
      const way = Object.hasOwn(ASKED, name) ? ASKED[name] : undefined;
      if (way !== undefined) {
        open.push({ type: argumentsOf(part)[0], path: path + way, isAsked: true });
        continue;
      }
      if (isAbsent(part)) {
        plain.push("absent");
        continue;
      }
      const isList = checker.isArrayType(part) || checker.isTupleType(part) || LISTS.includes(name);
      if (isList) {
        plain.push("list");
        for (const item of checker.getTypeArguments(part))
          open.push({ type: item, path: `${path}{}`, isAsked: true });
        continue;
      }
      // A text of one kind is a text.
      const isText = part.isIntersectionType() && part.getTypes().some((type) => !type.isObjectType());
      if (isText || (!part.isObjectType() && !part.isIntersectionType())) {
        plain.push(part.isLiteralType?.() ? JSON.stringify(part.value) : checker.typeToString(part));
        continue;
      }
      if (seen.has(part.id)) continue;
      seen.add(part.id);
      const calls = checker.getSignaturesOfType(part, 0);
      for (const call of calls)
        open.push({ type: checker.getReturnTypeOfSignature(call), path: `${path}(_)` });
      if (calls.length > 0) continue;
      const own =
        /^(?:|__type|__object|Readonly|Omit|Pick|Record|Extract|Exclude|NonNullable|ReturnType|Awaited)$/.test(
          name,
        )
          ? path
          : name;
      for (const property of checker.getPropertiesOfType(part).filter(isNamed))
        open.push({
          type: checker.getTypeOfSymbol(property),
          path: own === "" ? property.name : `${own}.${property.name}`,
        });
    }
    if (plain.length > 0 && !isAsked) found.set(path, new Set([...(found.get(path) ?? []), ...plain]));
  };
  for (const next of open) visit(next);
  return Array.from(found, ([path, types]) => `${path}: ${[...types].join(" | ")}`);
}
