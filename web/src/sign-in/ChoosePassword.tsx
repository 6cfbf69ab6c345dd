import { TextInput } from '@mantine/core'
import { changePassword } from '../data/team/profile.ts'
import { t } from '../text/index.ts'
import { EntryCard } from './EntryCard.tsx'
import { Form, NewPassword } from './Form.tsx'
import { newPasswordProblems } from './problems.ts'
import { leaveFor } from './SignIn.tsx'
import { useEntryForm } from './use-entry-form.ts'

/** Asks people who signed in by a link to choose a password: without one they are locked out later. */
export function ChoosePassword({ email }: { email: string }) {
  const texts = t.entry
  const form = useEntryForm({ password: '' }, newPasswordProblems, async ({ password }) => {
    await changePassword(password, '')
    leaveFor('/')
  })
  return (
    <EntryCard title={texts.choosePassword} help={texts.choosePasswordHelp} below={<a href="/">{texts.later}</a>}>
      <Form form={form} action={texts.setPassword}>
        <TextInput
          name="username"
          label={texts.email}
          description={texts.emailHelp}
          type="email"
          value={email}
          autoComplete="username"
          readOnly
        />
        <NewPassword field={form.field('password')} />
      </Form>
    </EntryCard>
  )
}
