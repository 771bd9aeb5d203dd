// Writes JSON Schemas of all dispatches of the gateway, made from the types of discord-api-types, to the file named.
// `open` allows properties that the types do not declare, `closed` does not.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createGenerator } from "ts-json-schema-generator";

const types = createRequire(import.meta.url)
  .resolve("discord-api-types/gateway/v10")
  .replace(/\.js$/, ".d.ts");

function schema(additionalProperties) {
  return createGenerator({
    path: types,
    type: "GatewayDispatchPayload",
    skipTypeCheck: true,
    jsDoc: "none",
    additionalProperties,
  }).createSchema("GatewayDispatchPayload");
}

writeFileSync(process.argv[2], JSON.stringify({ open: schema(true), closed: schema(false) }));
