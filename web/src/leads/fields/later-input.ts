import { later } from '../../ui/overlay/later.ts'

/** `FieldInput`, whose code the first look at the list does without. It stands within a `Suspense`. */
export const LaterFieldInput = later(async () => {
  const { FieldInput } = await import('./FieldInput.tsx')
  return { default: FieldInput }
})
