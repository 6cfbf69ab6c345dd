/** Where a session keeps what it needs to be the same device tomorrow. Values are JSON, whose shape is the transport's. */
export interface AuthStore {
  readCreds(): Promise<string | null>
  writeCreds(value: string): Promise<void>
  /** Those of the ids that are known. */
  readKeys(type: string, ids: readonly string[]): Promise<Map<string, string>>
  /** All or none; null forgets a key. */
  writeKeys(entries: readonly AuthKey[]): Promise<void>
}

export interface AuthKey {
  type: string
  id: string
  value: string | null
}
