type Known<T> = 0 extends 1 & T ? never : unknown extends T ? never : T

/** Does not compile for values of type `any` or `unknown`. */
export const known = <T>(value: T & Known<T>): T => value
