// `node escapes.mjs TSCONFIG FOLDER...` prints `FILE:LINE: CODE` for each place where something unread passes for an absent, an
// empty or a well one, and TypeScript does not see it. A program of its own, because TypeScript's API is an ES module.
import { relative } from "node:path";
import * as ast from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

const [, , config, ...folders] = process.argv;
const api = new API();
const [{ program, checker }] = api.updateSnapshot({ openProjects: [config] }).getProjects();
const K = ast.SyntaxKind;

/** Of these types each value is truthy, and equal to nothing: they are asked by their methods, or for their kind. */
const ASKED = ["Truth", "SeenList", "Unread", "Withheld", "Seen"];
/** Only readers and reports have the items of a list. */
const OPENERS = ["itemsOf", "saidIn"];
/** Array methods that take any value for an answer. */
const TAKES_ALL = /^(?:some|every|filter|find|findIndex|findLast|findLastIndex)$/;
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
/** An optional property may be compared with undefined: that says whether the question was asked. */
const mayBeUndefined = (node) =>
  typesOf(node).some((type) => type.isIntrinsicType() && type.intrinsicName === "undefined");

const isNone = (node) => ["undefined", "null", "false", "[]", "{}", '""'].includes(bare(node).getText());
/** Whether this is the kind of something that may be unread. */
const isOpen = (node) => {
  const types = typesOf(node);
  return types.length > 1 && types.some((type) => type.isStringLiteralType() && type.value === "unread");
};
/** The first question to such a kind, before any other: is it unread? Then TypeScript knows it. */
function asksFirst({ parent }) {
  if (!ast.isBinaryExpression(parent) || bare(parent.right).text !== "unread") return false;
  const kind = parent.operatorToken.kind;
  if (![...EQUAL, ...UNEQUAL].includes(kind)) return false;
  const choice = parent.parent;
  if (!ast.isConditionalExpression(choice) || choice.condition !== parent) return true;
  return !isNone(EQUAL.includes(kind) ? choice.whenTrue : choice.whenFalse) || isReturned(choice);
}
/** Whether this goes into the report as it is. */
const isReturned = ({ parent }) =>
  ast.isReturnStatement(parent) ||
  ast.isArrowFunction(parent) ||
  ((ast.isParenthesizedExpression(parent) || ast.isArrayLiteralExpression(parent)) && isReturned(parent));

/** What a function does beside its answer: with that, what is said of each item could be counted. */
const EFFECTS = /^(?:push|unshift|add|set|delete|splice)$/;
function hasEffect(node) {
  if (ast.isBinaryExpression(node) && /^(?:[^=!<>]*[^=!<>])?=$/.test(node.operatorToken.getText()))
    return true;
  if (ast.isPostfixUnaryExpression(node)) return true;
  if (ast.isPrefixUnaryExpression(node) && [K.PlusPlusToken, K.MinusMinusToken].includes(node.operator))
    return true;
  const callee = ast.isCallExpression(node) ? bare(node.expression) : undefined;
  if (callee && ast.isPropertyAccessExpression(callee) && EFFECTS.test(callee.name.text)) return true;
  let found = false;
  node.forEachChild((child) => {
    found ||= hasEffect(child);
  });
  return found;
}
/** Whether an arrow is one of the answers to something that may be unread, or is given to a method of it. */
function isAnswer({ parent }) {
  if (ast.isPropertyAssignment(parent)) return isAnswer(parent.parent);
  if (!ast.isCallExpression(parent)) return false;
  const callee = bare(parent.expression);
  return isAsked(callee) || (ast.isPropertyAccessExpression(callee) && isAsked(callee.expression));
}

function isEscape(node) {
  if (ast.isPrefixUnaryExpression(node)) return node.operator === K.ExclamationToken && isAsked(node.operand);
  if (ast.isConditionalExpression(node)) return isAsked(node.condition);
  if (ast.isIfStatement(node) || ast.isWhileStatement(node) || ast.isDoStatement(node))
    return isAsked(node.expression);
  if (ast.isBinaryExpression(node)) {
    const kind = node.operatorToken.kind;
    if (kind === K.InKeyword) return isAsked(node.right);
    const mayLack = (one) => mayBeUndefined(bare(one)) && !namesOf(bare(one)).includes("Withheld");
    if (LOGICAL.includes(kind))
      return isAsked(node.left) && !(kind === K.QuestionQuestionToken && mayLack(node.left));
    return (
      [...EQUAL, ...UNEQUAL].includes(kind) &&
      [node.left, node.right].some((one) => isAsked(one) && !mayLack(one))
    );
  }
  if (ast.isBindingElement(node))
    return (node.propertyName ?? node.name)?.getText() === "kind" && isOpen(node.name);
  if (ast.isPropertyAccessExpression(node))
    return node.name.text === "kind" && isOpen(node) && !asksFirst(node);
  if (ast.isArrowFunction(node) && isAnswer(node) && hasEffect(node.body)) return true;
  if (ast.isCallExpression(node))
    return node.arguments.some(
      (one) => isAsked(one) && (!isTaken(one) || node.expression.getText() === "Boolean"),
    );
  if (ast.isArrowFunction(node) && ast.isCallExpression(node.parent)) {
    const callee = bare(node.parent.expression);
    const method = ast.isPropertyAccessExpression(callee) ? callee.name.text : "";
    return (
      method !== "" && !isAsked(callee.expression) && TAKES_ALL.test(method) && returnsOf(node).some(isAsked)
    );
  }
  if (ast.isSpreadAssignment(node) || ast.isSpreadElement(node)) return isAsked(node.expression);
  return ast.isForOfStatement(node) && isAsked(node.expression);
}

/** Whether a function knows what it is given: an argument of any type may be anything to it. */
function isTaken(argument) {
  const type = checker.getContextualType(argument);
  return type !== undefined && !(type.isIntrinsicType?.() && ["unknown", "any"].includes(type.intrinsicName));
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
  const isJudge = /\/judge\//.test(name);
  // A reader makes the gap.
  const isReader = /\/read\//.test(name);
  const visit = (node) => {
    const isOpened =
      isJudge && ast.isIdentifier(node) && OPENERS.includes(node.text) && !ast.isImportSpecifier(node.parent);
    const isGap =
      node.operatorToken?.kind === K.InKeyword ||
      ast.isBindingElement(node) ||
      ast.isPropertyAccessExpression(node);
    if (isOpened || (!(isReader && isGap) && isEscape(node)))
      say(node.getStart(file), node.getText(file).replace(/\s+/g, " ").slice(0, 120));
    node.forEachChild(visit);
  };
  if (!name.endsWith("findings/seen.ts")) file.forEachChild(visit);
  for (const { pos, text } of program.getSemanticDiagnostics(name)) say(pos, text);
}
api.close();
process.stdout.write(lines.map((line) => `${line}\n`).join(""));
