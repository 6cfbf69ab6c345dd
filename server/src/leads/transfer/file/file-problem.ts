/** Why a file cannot be read on from some place, in words that quote nothing of it. */
export class FileProblem extends Error {}
