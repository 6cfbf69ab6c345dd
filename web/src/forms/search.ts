export const formViews = ['build', 'share', 'submissions'] as const
export type FormView = (typeof formViews)[number]

/** Query parameters of a form's page. */
export interface FormSearch {
  view?: FormView
}

/** Drops invalid parameters. */
export function readFormSearch(raw: Record<string, unknown>): FormSearch {
  const view = formViews.find((one) => one === raw.view)
  return view === undefined ? {} : { view }
}
