# Reads the data of a study (tellmore study analyse --data FOLDER) and fits its linear time models. Base R only.
# Run it in that folder: Rscript analyse.R

answers <- read.csv("answers.csv", stringsAsFactors = FALSE)
people <- read.csv("participants.csv", stringsAsFactors = FALSE)
codebook <- read.csv("codebook.csv", stringsAsFactors = FALSE)
stopifnot(setequal(names(answers), codebook$column[codebook$file == "answers.csv"]),
          setequal(names(people), codebook$column[codebook$file == "participants.csv"]),
          all(answers$participant %in% people$participant))

# Versions of R differ in whether read.csv takes "true" for a logical value.
answers$analysed <- toupper(as.character(answers$analysed)) == "TRUE"

# Covariance of the coefficients of an lm with errors clustered by participant (CR1).
clustered <- function(fit, cluster) {
  x <- model.matrix(fit)
  scores <- rowsum(x * residuals(fit), cluster)
  g <- nrow(scores); n <- nrow(x); k <- ncol(x)
  bread <- solve(crossprod(x))
  g / (g - 1) * (n - 1) / (n - k) * bread %*% crossprod(scores) %*% bread
}

cat(nrow(people), "participants,", nrow(answers), "answers, of which", sum(answers$analysed), "are analysed\n")
for (kind in unique(answers$kind)) {
  own <- answers[answers$kind == kind & answers$analysed, ]
  terms <- if (any(own$marks > 0)) seconds ~ size + marks else seconds ~ size
  fit <- lm(terms, own)
  se <- sqrt(diag(clustered(fit, own$participant)))
  half <- qt(0.975, length(unique(own$participant)) - 1) * se
  cat("\n", kind, ": ", nrow(own), " answers of ", length(unique(own$participant)), " participants\n", sep = "")
  print(cbind(estimate = coef(fit), se = sqrt(diag(vcov(fit))), se_clustered = se,
              low = coef(fit) - half, high = coef(fit) + half), digits = 6)
  if (length(unique(own$stage)) > 1) {
    test <- anova(fit, update(fit, . ~ . + stage))
    cat("learning stage: F =", format(test$F[2], digits = 6), " p =", format(test[["Pr(>F)"]][2], digits = 6), "\n")
  }
}
