/** Something that is shown: whoever shows it is told that it changed, and reads what it needs. */
export class Observable {
  private readonly watchers = new Set<() => void>();

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  }

  protected changed(): void {
    for (const watcher of this.watchers) watcher();
  }
}
