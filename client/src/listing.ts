export interface Page<Item> {
  items: Item[]
  /** Cursor of the next page; null at the end. */
  cursor: string | null
  /** Number of items on all pages, if the service counts them. */
  total?: number
}

/** Reads the page at a cursor; without one, the first page. */
export type ReadPage<Item> = (cursor: string | undefined) => Promise<Page<Item>>

/** A list that requests pages on demand: `for await (const lead of parley.leads.list())`. */
export class Listing<Item> implements AsyncIterable<Item> {
  readonly #read: ReadPage<Item>

  constructor(read: ReadPage<Item>) {
    this.#read = read
  }

  /** Returns one page: the first one, or the one at the cursor of a previous page. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#read(cursor)
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined
    do {
      const page = await this.#read(cursor)
      yield page
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.pages()) yield* items
  }

  /** Returns at most this many items. */
  async take(atMost: number): Promise<Item[]> {
    const taken: Item[] = []
    for await (const { items } of this.pages()) {
      taken.push(...items.slice(0, atMost - taken.length))
      if (taken.length >= atMost) break
    }
    return taken
  }
}
