/** The types of the API, as its OpenAPI document has them: `import type { TokenView } from "../api/schema"`. */
export type * from "../../.generated/schema";
