import { t } from '../text/index.ts'

/** By the name of the field, in the order of the form. */
export type Problems<T> = { [K in keyof T]?: string }

/** As the service counts them. */
const [leastPassword, mostPassword, mostName] = [12, 256, 100]

// What shows nothing is no name, whatever it is made of.
const isBlank = (text: string): boolean => !/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)

const given = (text: string, problem: string): string | undefined => (text.trim() === '' ? problem : undefined)

function without<T>(problems: { [K in keyof T]: string | undefined }): Problems<T> {
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined)) as Problems<T>
}

export const ofSignIn = ({
  email,
  password,
}: {
  email: string
  password: string
}): Problems<{ email: string; password: string }> =>
  without({ email: given(email, t.entry.needs.email), password: password === '' ? t.entry.needs.password : undefined })

export const ofCode = ({ code }: { code: string }): Problems<{ code: string }> =>
  without({ code: given(code, t.entry.needs.code) })

export const ofNewPassword = ({ password }: { password: string }): Problems<{ password: string }> =>
  without({ password: newPasswordProblem(password) })

export const ofNewcomer = ({
  name,
  password,
}: {
  name: string
  password: string
}): Problems<{ name: string; password: string }> =>
  without({
    name: isBlank(name) || name.trim().length > mostName ? t.entry.needs.name({ most: mostName }) : undefined,
    password: newPasswordProblem(password),
  })

function newPasswordProblem({ length }: string): string | undefined {
  if (length < leastPassword) return t.entry.needs.newPassword({ least: leastPassword })
  return length > mostPassword ? t.entry.needs.shorterPassword({ most: mostPassword }) : undefined
}
