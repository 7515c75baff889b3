/** The types of the JSON that the server and the client exchange, under the client's names. The build generates them from the server's OpenAPI description. */

import type * as api from "./schemas";

export type { AccuracyPoint, Calibration, CurvePoint, ItemRow, LogRow, ScoredItem, Share, StudySaved } from "./schemas";

/** A kind of question with its texts, in the project's words. */
export type Kind = api.KindOut;
export type Item = api.ItemOut;
export type Question = Pick<api.QuestionOut, "id" | "kind" | "items">;

/** An answer, finished or not. What it contains besides its type depends on the kind of question. */
export type Answer = { type: string; [part: string]: unknown };

/** Raw readings of the page's clock (performance.now()) in whole milliseconds; nothing is filtered here. */
export type Timing = Required<api.Timing>;
export type Device = Timing["device"];
/** Start and end of an interval by the page's clock, in whole milliseconds. */
export type Interval = Timing["hidden"][number];

/** The words of the project or study for what is judged, and the kinds of question in these words; a study has no ties. */
export type Wording = api.WordsOut & Partial<Pick<api.ProjectOut, "ties">>;
export type Me = api.MeOut;
export type Progress = api.ProgressOut;
/** What to show next: a question, or the reason why there is none. */
export type Turn = api.QuestionReply;
export type End = api.EndOut;
export type Glance = api.GlanceOut;
export type Saved = api.AnswerReply;

export interface Submission extends Omit<api.AnswerIn, "answer"> {
  answer: Answer;
  timing: Timing;
}

export interface Undone extends Omit<api.UndoReply, "previous"> {
  previous?: Answer | null;
}

// The owner's dashboard

export type Dashboard = api.DashboardOut;
export type Rate = api.Rate;
export type Person = api.AnnotatorOut;
export type Judged = api.JudgeOut;
export type Verdict = api.Verdict;
export type Measured = api.Accuracy;
export type Agreements = api.AgreementOut;
export type Between = api.Agreement;
export type Conflict = api.ConflictOut;
export type Opinions = api.OpinionsOut;
export type Disputed = api.DisputedOut;
export type Log = api.LogOut;
export type Export = api.ExportOut;
export type Mistake = api.MistakeOut;
export type ItemPage = api.ItemsOut;
export type Why = api.WhyOut;
export type Adding = api.AddingOut;
export type Settings = Omit<api.SettingsOut, "config">;
export type Preview = api.PreviewOut;
export type Invitation = api.InvitationOut;

// The start

export type StartState = api.StartOut;
export type StartIn = api.StartIn;
export type StartPreview = api.StartPreviewOut;

// Studies

export type StudyState = api.StudyOut;
export type PersonField = api.FieldOut;
export type Choice = api.ChoiceOut;
export type StepValue = NonNullable<api.StepIn["value"]>;
