import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { problemText } from './format/error-texts.ts'

/** A form being edited, with the server's errors for each field. Errors keep the input. */
export interface Draft<T> {
  value: T
  set(changes: Partial<T>): void
  /** Returns the error of a field. */
  errorOf(field: string): string | undefined
  /** Returns the error of an exact path, such as `customFieldValues.city`. */
  issueAt(path: string): string | undefined
  /** Stores the errors of a response; returns whether they belong to fields of the form. */
  applyError(error: unknown): boolean
  isChanged: boolean
  reset(to: T): void
}

export function useDraft<T extends object>(initial: T): Draft<T> {
  const [value, setValue] = useState(initial)
  const [issues, setIssues] = useState<ReadonlyMap<string, string>>(new Map())
  const [isChanged, setChanged] = useState(false)
  return {
    value,
    isChanged,
    set: (changes) => {
      setValue((before) => ({ ...before, ...changes }))
      setIssues((before) => new Map([...before].filter(([path]) => !(rootOf(path) in changes))))
      setChanged(true)
    },
    errorOf: (field) => {
      const found = [...issues].find(([path]) => path === field || rootOf(path) === field)
      return found && problemText(found[1])
    },
    issueAt: (path) => {
      const found = issues.get(path)
      return found === undefined ? undefined : problemText(found)
    },
    applyError: (error) => {
      const found = issuesOf(error)
      setIssues(found)
      return [...found.keys()].some((path) => rootOf(path) in value)
    },
    reset: (to) => {
      setValue(to)
      setIssues(new Map())
      setChanged(false)
    },
  }
}

// `data.field` names one field, `data.issues` several.
function issuesOf(error: unknown): ReadonlyMap<string, string> {
  if (!(error instanceof ApiError)) return new Map()
  if (typeof error.data.field === 'string') return new Map([[error.data.field, error.message]])
  return error.issues
}

const rootOf = (path: string): string => path.split(/[.[]/)[0] ?? path
