import type { Challenge } from "../../api/accounts";
import { solutionOf, solve } from "./solver";

/** Solves the challenge that it is sent, apart from what draws the page. */
addEventListener("message", (event: MessageEvent<Challenge>) => {
  void solve(event.data).then((number) =>
    postMessage(number === null ? null : solutionOf(event.data, number)),
  );
});
