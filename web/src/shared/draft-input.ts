import type { Draft } from '../ui/use-draft.ts'

type TextField<T> = { [K in keyof T]: T[K] extends string ? K : never }[keyof T] & string

/** Returns the props of an input for a text of a draft. */
export const draftInput = <T extends object>({ value, set, errorOf }: Draft<T>, field: TextField<T>) => ({
  value: value[field] as string,
  error: errorOf(field),
  onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
    set({ [field]: currentTarget.value } as unknown as Partial<T>),
})
