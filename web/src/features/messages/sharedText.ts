/** What another app shares: each as that app chooses, empty for none. */
export interface Shared {
  title: string;
  text: string;
  url: string;
}

/** The text of a message with all that was shared, each once: many apps put the address into the text too. */
export function sharedText({ title, text, url }: Shared): string {
  const lines: string[] = [];
  for (const each of [title, text, url].map((line) => line.trim())) {
    if (each !== "" && !lines.some((line) => line.includes(each))) {
      lines.push(each);
    }
  }
  return lines.join("\n");
}
