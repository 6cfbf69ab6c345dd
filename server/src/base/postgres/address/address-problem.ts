/** An address that cannot be used as it is. The words never repeat a value, which may be a password in the wrong place. */
export class AddressProblem extends Error {
  /** To be put after the name of the setting that holds the address. */
  readonly words: string

  constructor(words: string) {
    super(`The address of the database ${words}`)
    this.words = words
  }
}
