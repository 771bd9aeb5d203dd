const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** The name of a function, or of the variable that holds it, alone or wrapped as by `memo(...)`. */
function nameOf(node) {
  const holder = node.parent?.type === "CallExpression" ? node.parent.parent : node.parent;
  return node.id?.name ?? (holder?.type === "VariableDeclarator" ? holder.id.name : undefined) ?? "";
}

/**
 * Refuses `store.state` where a component or a hook draws: that is the state of one moment, and what is drawn of it stays
 * when the state changes. Callbacks, effects and first values of `useState` may read it.
 */
export const stateReads = {
  create(context) {
    return {
      "MemberExpression[property.name='state']"(node) {
        const isStore = node.object.name === "store" || node.object.property?.name === "store";
        let around = node.parent;
        while (isStore && around && !FUNCTIONS.has(around.type)) {
          around = around.parent;
        }
        if (isStore && around && /^(?:[A-Z]|use[A-Z])/.test(nameOf(around))) {
          context.report({ node, message: "It stays when the state changes: use useAppState or useDerived" });
        }
      },
    };
  },
};
