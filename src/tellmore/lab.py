"""The laboratory from Python: simulated trials, the paper's method, and models of people's answer times."""

from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.policy.cost_fit import OnlineCost, Timed
from tellmore.sim.config import Config
from tellmore.sim.experiment import trial
from tellmore.sim.method import Method, MethodLearner

__all__ = ["PAPER_COST", "Config", "CostModel", "Method", "MethodLearner", "OnlineCost", "Timed", "trial"]
