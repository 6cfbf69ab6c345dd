import { type ChangeEvent, type FormEvent, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { t } from '../text/index.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import type { Problems } from './problems.ts'

/** Props of an input, apart from its label. */
export interface EntryField {
  name: string
  value: string
  error: string | undefined
  onChange(event: ChangeEvent<HTMLInputElement>): void
}

interface EntryForm<T> {
  /** Error of the whole form; null if none. */
  problem: string | null
  isBusy: boolean
  field(name: keyof T & string): EntryField
  submit(event: FormEvent<HTMLFormElement>): void
}

/** Returns the state of a form with text fields: errors are shown beside their fields, and input is kept. */
export function useEntryForm<T extends { [name in keyof T]: string }>(
  initial: T,
  problemsOf: (value: T) => Problems<T>,
  send: (value: T) => Promise<unknown>,
): EntryForm<T> {
  const [value, setValue] = useState(initial)
  const [problems, setProblems] = useState<Problems<T>>({})
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    const found = problemsOf(value)
    setProblems(found)
    setProblem(null)
    const [first] = Object.keys(found)
    if (first !== undefined) return form.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus()
    setBusy(true)
    // Busy until the next page has loaded: a second submit would fail, since links and codes work once.
    await send(value).catch((error: unknown) => {
      setProblem(entryProblem(error))
      setBusy(false)
    })
  }
  return {
    problem,
    isBusy,
    field: (name) => ({
      name,
      value: value[name],
      error: problems[name],
      onChange: ({ currentTarget }) => {
        setValue((before) => ({ ...before, [name]: currentTarget.value }))
        setProblems((before) => ({ ...before, [name]: undefined }))
      },
    }),
    submit: (event) => {
      event.preventDefault()
      if (!isBusy) void submit(event.currentTarget)
    },
  }
}

const refusals = {
  'Wrong e-mail or password': 'wrong',
  'Wrong code': 'wrongCode',
  'This sign-in took too long. Sign in again.': 'late',
  'This link is no longer valid. Ask for a new one.': 'linkOver',
  'This invitation is no longer valid. Ask for a new one.': 'invitationOver',
  'The sender of this invitation can no longer invite with this role. Ask for a new one.': 'invitationVoid',
  'Too many attempts. Wait before you try again.': 'tooOften',
  'You have an account already. Sign in, then open the invitation again.': 'hasAccount',
  'You are a member of this workspace already': 'isMember',
  'Mail is not set up. An operator sets PARLEY_SMTP_URL and PARLEY_MAIL_FROM.': 'noMail',
  'This account is switched off. Ask your administrator.': 'off',
} as const

/** Translates an error of the server. */
export function entryProblem(error: unknown): string {
  if (error instanceof ApiError && error.data.code === 'SSO_REQUIRED') return t.entry.refusals.forced
  const message = error instanceof ApiError ? error.message : ''
  if (message in refusals) return t.entry.refusals[refusals[message as keyof typeof refusals]]
  return errorSentence(error)
}
