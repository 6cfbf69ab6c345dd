import { t } from '../text/index.ts'

/** By field name, in the order of the form. */
export type Problems<T> = { [K in keyof T]?: string }

/** Same limits as on the server. */
const [minPassword, maxPassword, maxName] = [12, 256, 100]

// A name of invisible characters counts as empty.
const isBlank = (text: string): boolean => !/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)

const required = (text: string, problem: string): string | undefined => (text.trim() === '' ? problem : undefined)

function withoutProblem<T>(problems: { [K in keyof T]: string | undefined }): Problems<T> {
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined)) as Problems<T>
}

type Fields<Name extends string> = Record<Name, string>

export const signInProblems = ({ email, password }: Fields<'email' | 'password'>) =>
  withoutProblem({
    email: required(email, t.entry.needs.email),
    password: password === '' ? t.entry.needs.password : undefined,
  })

export const emailProblems = ({ email }: Fields<'email'>) =>
  withoutProblem({ email: required(email, t.entry.needs.email) })

export const codeProblems = ({ code }: Fields<'code'>) => withoutProblem({ code: required(code, t.entry.needs.code) })

export const newPasswordProblems = ({ password }: Fields<'password'>) =>
  withoutProblem({ password: newPasswordProblem(password) })

export const newcomerProblems = ({ name, password }: Fields<'name' | 'password'>) =>
  withoutProblem({
    name: isBlank(name) || name.trim().length > maxName ? t.entry.needs.name({ most: maxName }) : undefined,
    password: newPasswordProblem(password),
  })

function newPasswordProblem({ length }: string): string | undefined {
  if (length < minPassword) return t.entry.needs.newPassword({ least: minPassword })
  return length > maxPassword ? t.entry.needs.shorterPassword({ most: maxPassword }) : undefined
}
