import { t } from '../text/index.ts'

/** By the name of the field, in the order of the form. */
export type Problems<T> = { [K in keyof T]?: string }

/** As the service counts them. */
const [minPassword, maxPassword, maxName] = [12, 256, 100]

// What shows nothing is no name, whatever it is made of.
const isBlank = (text: string): boolean => !/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)

const required = (text: string, problem: string): string | undefined => (text.trim() === '' ? problem : undefined)

function withoutProblem<T>(problems: { [K in keyof T]: string | undefined }): Problems<T> {
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined)) as Problems<T>
}

export const signInProblems = ({
  email,
  password,
}: {
  email: string
  password: string
}): Problems<{ email: string; password: string }> =>
  withoutProblem({
    email: required(email, t.entry.needs.email),
    password: password === '' ? t.entry.needs.password : undefined,
  })

export const codeProblems = ({ code }: { code: string }): Problems<{ code: string }> =>
  withoutProblem({ code: required(code, t.entry.needs.code) })

export const newPasswordProblems = ({ password }: { password: string }): Problems<{ password: string }> =>
  withoutProblem({ password: newPasswordProblem(password) })

export const newcomerProblems = ({
  name,
  password,
}: {
  name: string
  password: string
}): Problems<{ name: string; password: string }> =>
  withoutProblem({
    name: isBlank(name) || name.trim().length > maxName ? t.entry.needs.name({ most: maxName }) : undefined,
    password: newPasswordProblem(password),
  })

function newPasswordProblem({ length }: string): string | undefined {
  if (length < minPassword) return t.entry.needs.newPassword({ least: minPassword })
  return length > maxPassword ? t.entry.needs.shorterPassword({ most: maxPassword }) : undefined
}
