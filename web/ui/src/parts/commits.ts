/** A commit's id as people say it. */
export function short(commit: string): string {
  return commit.slice(0, 8);
}
