import { Linter, type Rule } from "eslint";
import { expect, it } from "vitest";

// A rule of ESLint has no types of its own.
const RULE: string = "../lint/stateReads.js";
const { stateReads } = (await import(RULE)) as { stateReads: Rule.RuleModule };

function problems(code: string): number {
  return new Linter().verify(code, [
    { plugins: { own: { rules: { "state-reads": stateReads } } }, rules: { "own/state-reads": "error" } },
  ]).length;
}

it.each([
  "function Card() { const name = store.state.name; }",
  "const Card = () => session.store.state.name;",
  "const Card = memo(function (props) { return store.state; });",
  "function useName() { if (a) { return f(store.state); } }",
])("What draws may not read the state of the store: %s", (code) => {
  expect(problems(code)).toBe(1);
});

it.each([
  "function Card() { const onPress = () => store.state.name; }",
  "function Card() { useEffect(() => { f(store.state); }); }",
  "function Card() { const [name] = useState(() => store.state.name); }",
  "function Card() { return timer.state; }",
  "async function load(session) { return session.store.state; }",
])("What does not draw may: %s", (code) => {
  expect(problems(code)).toBe(0);
});
