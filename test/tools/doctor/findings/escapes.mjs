// `node escapes.mjs TSCONFIG FOLDER...` prints `FILE:LINE: CODE` for each place where something unread passes for an absent, an
// empty or a well one, and TypeScript does not see it. A program of its own, because TypeScript's API is an ES module.
import { relative } from "node:path";
import * as ast from "typescript/unstable/ast";
import { API, SymbolFlags } from "typescript/unstable/sync";

const [, , config, ...folders] = process.argv;
const api = new API();
const [{ program, checker }] = api.updateSnapshot({ openProjects: [config] }).getProjects();
const K = ast.SyntaxKind;

/** Of these types each value is truthy, and equal to nothing: they are asked by their methods, or for their kind. */
const ASKED = ["Truth", "SeenList", "Unread"];
/** What these methods return lacks what is unknown: undefined and an empty list say nothing, and `true` is only half of an answer. */
const PARTIAL = ["each", "known", "ifYes", "ifNo"];
/** Array methods that take any value for an answer. */
const TAKES_ALL = /^(?:some|every|filter|find|findIndex|findLast|findLastIndex)$/;
/** What a list that lacks something does not know of itself. */
const COUNTS = /^(?:length|size|at|every|indexOf|findIndex|join)$/;
const EQUAL = [K.EqualsEqualsToken, K.EqualsEqualsEqualsToken];
const UNEQUAL = [K.ExclamationEqualsToken, K.ExclamationEqualsEqualsToken];
const LOGICAL = [K.AmpersandAmpersandToken, K.BarBarToken, K.QuestionQuestionToken];

const bare = (node) =>
  node && (ast.isParenthesizedExpression(node) || ast.isNonNullExpression(node) || ast.isAsExpression(node))
    ? bare(node.expression)
    : node;
const typesOf = (node) => {
  const type = checker.getTypeAtLocation(node);
  try {
    return type?.isUnionType() ? type.getTypes() : type ? [type] : [];
  } catch {
    // TypeScript 7.0 fails for a union with a tuple in it.
    return [];
  }
};
const namesOf = (node) =>
  typesOf(node).map((type) => (type.getAliasSymbol() ?? type.getSymbol())?.name ?? "");
const isAsked = (node) => namesOf(bare(node)).some((name) => ASKED.includes(name));
const isNone = (node) => ["undefined", "null", "false", "[]", "{}", '""'].includes(bare(node).getText());
const isBoolean = (node) => typesOf(bare(node)).every((type) => type.isBooleanLiteralType());
/** An optional property may be compared with undefined: that says whether the question was asked. */
const mayBeUndefined = (node) =>
  typesOf(node).some((type) => type.isIntrinsicType() && type.intrinsicName === "undefined");

const declarationOf = (name) => {
  const symbol = checker.getSymbolAtLocation(name);
  const isAlias = symbol !== undefined && (symbol.flags & SymbolFlags.Alias) !== 0;
  const handle = (isAlias ? checker.getAliasedSymbol(symbol) : symbol)?.valueDeclaration;
  return handle?.path.endsWith(".d.ts") ? undefined : handle?.resolve();
};

/** Whether this is the kind of something that may be unread. */
const isOpen = (node) =>
  typesOf(node).some((type) => type.isStringLiteralType() && type.value === "unread") &&
  typesOf(node).length > 1;
/** The first question to such a kind, before any other: is it unread? Then TypeScript knows it. */
function asksFirst(kind) {
  const { parent } = kind;
  if (!ast.isBinaryExpression(parent) || ![...EQUAL, ...UNEQUAL].includes(parent.operatorToken.kind))
    return false;
  const to = bare(parent.right);
  if (!ast.isStringLiteral(to)) return false;
  const isEqual = EQUAL.includes(parent.operatorToken.kind);
  if (to.text === "seen") return isEqual || isGuard(parent);
  if (to.text !== "unread") return false;
  const choice = parent.parent;
  if (!ast.isConditionalExpression(choice) || choice.condition !== parent) return true;
  return !isNone(isEqual ? choice.whenTrue : choice.whenFalse) || isReturned(choice);
}
/** Whether this goes into the report as it is. */
function isReturned({ parent }) {
  if (ast.isReturnStatement(parent) || ast.isArrowFunction(parent)) return true;
  return (
    (ast.isParenthesizedExpression(parent) ||
      ast.isSpreadElement(parent) ||
      ast.isArrayLiteralExpression(parent)) &&
    isReturned(parent)
  );
}

/** Whether undefined, false or an empty list in this place may come from what could not be read. */
function isPartial(given, depth = 0) {
  const node = bare(given);
  if (node === undefined || depth > 9) return false;
  const deeper = (one) => isPartial(one, depth + 1);
  if (ast.isSpreadElement(node) || ast.isAwaitExpression(node)) return deeper(node.expression);
  if (ast.isArrayLiteralExpression(node))
    return node.elements.some((one) => ast.isSpreadElement(one) && deeper(one));
  if (ast.isNewExpression(node)) return (node.arguments ?? []).some(deeper);
  if (ast.isConditionalExpression(node) && isNone(node.whenFalse)) {
    const asked = bare(node.condition);
    if (ast.isBinaryExpression(asked) && EQUAL.includes(asked.operatorToken.kind) && isOpen(bare(asked.left)))
      return true;
  }
  if (ast.isConditionalExpression(node))
    return (deeper(node.whenTrue) || isNone(node.whenTrue)) &&
      (deeper(node.whenFalse) || isNone(node.whenFalse))
      ? deeper(node.condition) || deeper(node.whenTrue) || deeper(node.whenFalse)
      : deeper(node.whenTrue) || deeper(node.whenFalse);
  if (ast.isBinaryExpression(node)) {
    const [kind, left, right] = [node.operatorToken.kind, node.left, node.right];
    if (kind === K.AmpersandAmpersandToken) return deeper(left) || deeper(right);
    if (kind === K.BarBarToken && isBoolean(left)) return deeper(left) || deeper(right);
    if (LOGICAL.includes(kind)) return deeper(left) && (deeper(right) || isNone(right));
    return UNEQUAL.includes(kind) && isNone(right) && deeper(left);
  }
  if (ast.isPropertyAccessExpression(node))
    return node.questionDotToken !== undefined && deeper(node.expression);
  if (ast.isCallExpression(node) && ast.isPropertyAccessExpression(bare(node.expression))) {
    const { name, expression } = bare(node.expression);
    if (["Array", "Object", "Promise"].includes(expression.getText())) return node.arguments.some(deeper);
    return (PARTIAL.includes(name.text) && isAsked(expression)) || deeper(expression);
  }
  if (ast.isCallExpression(node) && ast.isIdentifier(bare(node.expression))) {
    const declared = declarationOf(bare(node.expression));
    const called = declared && ast.isVariableDeclaration(declared) ? bare(declared.initializer) : declared;
    return called?.body !== undefined && returnsOf(called).some(deeper);
  }
  if (!ast.isIdentifier(node)) return false;
  let declared = declarationOf(node);
  while (declared && ast.isBindingElement(declared)) {
    if (ast.isObjectBindingPattern(declared.parent)) return false;
    declared = declared.parent.parent;
  }
  return declared !== undefined && ast.isVariableDeclaration(declared) && deeper(declared.initializer);
}

/** Whether a negated answer only keeps something from being said: `if (a === undefined || b) return undefined`. */
function isGuard(node) {
  const { parent } = node;
  if (ast.isParenthesizedExpression(parent)) return isGuard(parent);
  if (ast.isBinaryExpression(parent) && LOGICAL.includes(parent.operatorToken.kind)) return isGuard(parent);
  if (ast.isConditionalExpression(parent)) return parent.condition === node && isNone(parent.whenTrue);
  if (!ast.isIfStatement(parent) || parent.elseStatement !== undefined) return false;
  const then = parent.thenStatement;
  return ast.isReturnStatement(then) && (then.expression === undefined || isNone(then.expression));
}

/** What is wrong with a condition: it takes unknown for no. */
function isBadCondition(node, hasElse) {
  const asked = bare(node);
  return isAsked(asked) || (hasElse && isPartial(asked));
}

/** The doctor of a node asks all by three answers: what it says of each goes into the report, and nowhere else. */
function isLoose(node) {
  if (!ast.isCallExpression(node) || !ast.isPropertyAccessExpression(bare(node.expression))) return false;
  const { name, expression } = bare(node.expression);
  if (!PARTIAL.includes(name.text) || !isAsked(expression)) return false;
  return name.text !== "each" || !isReturned(node);
}

function isEscape(node) {
  if (ast.isPrefixUnaryExpression(node))
    return (
      node.operator === K.ExclamationToken &&
      (isAsked(node.operand) || (isPartial(node.operand) && !isGuard(node)))
    );
  if (ast.isConditionalExpression(node)) {
    const hasElse = !isNone(node.whenFalse) && !isPartial(node.whenFalse);
    return isBadCondition(node.condition, hasElse);
  }
  if (ast.isIfStatement(node)) return isBadCondition(node.expression, node.elseStatement !== undefined);
  if (ast.isWhileStatement(node) || ast.isDoStatement(node)) return isAsked(node.expression);
  if (ast.isBinaryExpression(node)) {
    const kind = node.operatorToken.kind;
    const sides = [node.left, node.right];
    if (kind === K.InKeyword) return isAsked(node.right);
    if (LOGICAL.includes(kind)) {
      const mayDefault = kind !== K.AmpersandAmpersandToken && !isNone(node.right) && !isBoolean(node.left);
      const isDefault = mayDefault && isPartial(node.left) && !isPartial(node.right);
      return (
        isDefault ||
        (isAsked(node.left) && !(kind === K.QuestionQuestionToken && mayBeUndefined(bare(node.left))))
      );
    }
    if (EQUAL.includes(kind) || UNEQUAL.includes(kind))
      return (
        sides.some((one) => isAsked(one) && !mayBeUndefined(bare(one))) ||
        (EQUAL.includes(kind) && sides.some(isNone) && sides.some((one) => isPartial(one)) && !isGuard(node))
      );
    return false;
  }
  if (
    ast.isBindingElement(node) &&
    (node.propertyName ?? node.name)?.getText() === "kind" &&
    isOpen(node.name)
  )
    return true;
  if (ast.isPropertyAccessExpression(node) && node.name.text === "kind" && isOpen(node))
    return !asksFirst(node);
  if (ast.isPropertyAccessExpression(node)) {
    if (!COUNTS.test(node.name.text) || node.questionDotToken) return false;
    return isPartial(node.expression) && !isAsked(node.expression) && !isFound(node.expression);
  }
  if (ast.isArrowFunction(node) && ast.isCallExpression(node.parent)) {
    const callee = bare(node.parent.expression);
    const method = ast.isPropertyAccessExpression(callee) ? callee.name.text : "";
    const returned = returnsOf(node);
    if (method !== "" && isAsked(callee.expression))
      return /^(?:contains|filter)$/.test(method) && returned.some((one) => isPartial(one));
    return (
      TAKES_ALL.test(method) && returned.some((one) => isAsked(one) || (method === "every" && isPartial(one)))
    );
  }
  if (ast.isBindingElement(node) && ast.isArrayBindingPattern(node.parent))
    return (
      node.initializer !== undefined && !isNone(node.initializer) && isPartial(node.parent.parent.initializer)
    );
  if (ast.isSpreadAssignment(node) || ast.isSpreadElement(node)) return isAsked(node.expression);
  return ast.isForOfStatement(node) && isAsked(node.expression);
}

/** An item that was found, not a list that lacks some. */
function isFound(node) {
  return !namesOf(bare(node)).some((name) =>
    /^(?:Array|ReadonlyArray|Iterable|Set|ReadonlySet|Map|ReadonlyMap)$/.test(name),
  );
}

function returnsOf(arrow) {
  if (!ast.isBlock(arrow.body)) return [arrow.body];
  const found = [];
  const visit = (node) => {
    if (ast.isReturnStatement(node) && node.expression) found.push(node.expression);
    else if (!ast.isArrowFunction(node)) node.forEachChild(visit);
  };
  arrow.body.forEachChild(visit);
  return found;
}

const lines = [];
for (const name of program
  .getSourceFileNames()
  .filter((file) => folders.some((folder) => file.startsWith(folder)))) {
  const file = program.getSourceFile(name);
  const say = (at, what) => {
    const line = file.text.slice(0, at).split("\n").length;
    lines.push(`${relative(process.cwd(), name)}:${line}: ${what}`);
  };
  // A reader makes the gap.
  const isReader = /\/read\//.test(name);
  const isOfNode = /\/node\/judge\//.test(name);
  const visit = (node) => {
    const isKind = isReader && (ast.isBindingElement(node) || ast.isPropertyAccessExpression(node));
    if ((!isKind && isEscape(node)) || (isOfNode && isLoose(node)))
      say(node.getStart(file), node.getText(file).replace(/\s+/g, " ").slice(0, 120));
    node.forEachChild(visit);
  };
  if (!name.endsWith("findings/seen.ts")) file.forEachChild(visit);
  for (const { pos, text } of program.getSemanticDiagnostics(name)) say(pos, text);
}
api.close();
process.stdout.write(lines.map((line) => `${line}\n`).join(""));
