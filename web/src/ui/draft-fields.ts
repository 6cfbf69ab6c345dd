import { useMutation } from '@tanstack/react-query'
import { showError } from './overlay/toasts.tsx'
import type { Draft } from './use-draft.ts'

/** A draft whose fields of these names have values of one type. */
interface DraftOf<Name extends string, Value> {
  value: Readonly<Record<Name, Value>>
  set(changes: { [name in Name]?: Value }): void
  errorOf(field: string): string | undefined
  /** Of a section that only admins may change. */
  mayChange?: boolean
}

/** Returns the props of a text field. */
export const textField = <Name extends string>(draft: DraftOf<NoInfer<Name>, string>, name: Name) => ({
  value: draft.value[name],
  onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
    draft.set({ [name]: currentTarget.value } as Record<Name, string>),
  error: draft.errorOf(name),
  ...(draft.mayChange === false && { disabled: true }),
})

/** Returns the props of a checkbox or switch. */
export const checkField = <Name extends string>(draft: DraftOf<NoInfer<Name>, boolean>, name: Name) => ({
  checked: draft.value[name],
  onChange: ({ currentTarget }: { currentTarget: { checked: boolean } }) =>
    draft.set({ [name]: currentTarget.checked } as Record<Name, boolean>),
  disabled: draft.mayChange === false,
})

/** Sends a draft. Errors are shown beside their fields. */
export const useSave = <T extends object, R>(
  draft: Draft<T>,
  send: () => Promise<R>,
  done?: (response: R) => unknown,
) =>
  useMutation({
    mutationFn: send,
    onError: (error) => draft.applyError(error) || showError(error),
    ...(done !== undefined && { onSuccess: done }),
  })
